package viper.silver.verifier;

public abstract class AbstractVerificationError implements VerificationError {
    public AbstractVerificationError transformedError() {
        return this;
    }

    @Override
    public Object pos() {
        return this;
    }

    @Override
    public void failureContexts_$eq(scala.collection.immutable.Seq contexts) {}
}
