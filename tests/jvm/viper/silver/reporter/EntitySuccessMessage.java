package viper.silver.reporter;

public class EntitySuccessMessage implements Message {
    public EntitySuccessMessage(
            String verifier, viper.silver.ast.Member member, long time, boolean cached) {}
}
