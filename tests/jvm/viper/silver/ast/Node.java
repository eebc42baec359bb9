package viper.silver.ast;

public interface Node {
    scala.collection.immutable.Seq subnodes();
}
