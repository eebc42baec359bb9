package viper.silver.verifier;

public class Failure implements VerificationResult {
    private final scala.collection.immutable.Seq errors;

    public Failure(scala.collection.immutable.Seq errors) {
        this.errors = errors;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("Failure");
        scala.collection.Iterator each = errors.iterator();
        while (each.hasNext()) {
            text.append(": ").append(each.next());
        }
        return text.toString();
    }
}
