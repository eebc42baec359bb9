package viper.silver.verifier;

public final class reasons {
    public record InternalReason(viper.silver.ast.Node node, String words)
            implements ErrorReason {}
}
