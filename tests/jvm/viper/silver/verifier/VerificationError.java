package viper.silver.verifier;

public interface VerificationError extends AbstractError {
    void failureContexts_$eq(scala.collection.immutable.Seq contexts);
}
