package viper.silver.verifier;

public interface AbstractError {
    Object pos();
}
