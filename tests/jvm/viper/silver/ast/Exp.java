package viper.silver.ast;

public interface Exp extends Node {}
