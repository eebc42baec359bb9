package viper.silver.ast;

public interface Positioned {}
