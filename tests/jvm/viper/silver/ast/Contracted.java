package viper.silver.ast;

public interface Contracted extends Node {}
