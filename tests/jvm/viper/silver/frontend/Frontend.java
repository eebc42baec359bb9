package viper.silver.frontend;

public interface Frontend {}
