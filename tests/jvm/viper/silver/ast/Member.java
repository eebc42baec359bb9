package viper.silver.ast;

public interface Member extends Contracted {
    String name();
}
