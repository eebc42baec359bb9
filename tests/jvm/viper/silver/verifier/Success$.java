package viper.silver.verifier;

public final class Success$ implements VerificationResult {
    public static final Success$ MODULE$ = new Success$();

    @Override
    public String toString() {
        return "Success";
    }
}
