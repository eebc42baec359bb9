package viper.silver.reporter;

public interface Message {}
