package viper.silver.ast;

public interface HasLineColumn {}
