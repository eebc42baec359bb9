package viper.silver.ast;

/** A program with one method, whose contract is the property `contract`. */
public class Program implements Node {
    private static final class Method implements Member {
        @Override
        public String name() {
            return "m";
        }

        @Override
        public scala.collection.immutable.Seq subnodes() {
            return scala.collection.immutable.Nil$.MODULE$;
        }

        @Override
        public String toString() {
            return "method m()\n" + System.getProperty("contract", "") + "{\n  assert true\n}";
        }
    }

    @Override
    public scala.collection.immutable.Seq subnodes() {
        return methods();
    }

    public scala.collection.immutable.Seq domains() {
        return scala.collection.immutable.Nil$.MODULE$;
    }

    public scala.collection.immutable.Seq fields() {
        return scala.collection.immutable.Nil$.MODULE$;
    }

    public scala.collection.immutable.Seq functions() {
        return scala.collection.immutable.Nil$.MODULE$;
    }

    public scala.collection.immutable.Seq predicates() {
        return scala.collection.immutable.Nil$.MODULE$;
    }

    public scala.collection.immutable.Seq methods() {
        return new scala.collection.immutable.$colon$colon(
                new Method(), scala.collection.immutable.Nil$.MODULE$);
    }

    public scala.collection.immutable.Seq extensions() {
        return scala.collection.immutable.Nil$.MODULE$;
    }
}
