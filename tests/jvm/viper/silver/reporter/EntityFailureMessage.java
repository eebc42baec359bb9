package viper.silver.reporter;

public class EntityFailureMessage implements Message {
    public EntityFailureMessage(String verifier, viper.silver.ast.Member member, long time,
            viper.silver.verifier.Failure failure, boolean cached) {}
}
