package viper.silver.verifier;

public final class errors {
    public static final class Internal extends AbstractVerificationError {
        private final ErrorReason reason;

        public Internal(viper.silver.ast.Node node, ErrorReason reason, boolean cached) {
            this.reason = reason;
        }

        @Override
        public String toString() {
            return "Internal " + reason;
        }
    }
}
