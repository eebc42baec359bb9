package viper.silver.verifier;

public record AbortedExceptionally(Throwable cause) implements AbstractError {
    @Override
    public Object pos() {
        return this;
    }
}
