package viper.silver.ast;

public class Program {}
