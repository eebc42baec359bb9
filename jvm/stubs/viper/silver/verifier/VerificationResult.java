package viper.silver.verifier;

public interface VerificationResult {}
