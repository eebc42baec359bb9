package scala.collection.immutable;

public final class Nil$ implements Seq {
    public static final Nil$ MODULE$ = new Nil$();

    @Override
    public scala.collection.Iterator iterator() {
        return $colon$colon.iterator(this);
    }
}
