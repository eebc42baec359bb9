package viper.silver.verifier;

public interface ErrorReason {}
