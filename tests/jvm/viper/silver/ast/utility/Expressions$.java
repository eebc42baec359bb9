package viper.silver.ast.utility;

public final class Expressions$ {
    public static final Expressions$ MODULE$ = new Expressions$();

    public viper.silver.ast.Exp instantiateVariables(viper.silver.ast.Exp in,
            scala.collection.immutable.Seq variables, scala.collection.immutable.Seq values) {
        return in;
    }
}
