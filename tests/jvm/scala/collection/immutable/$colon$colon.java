package scala.collection.immutable;

public final class $colon$colon implements Seq {
    private final Object head;
    private final Seq tail;

    public $colon$colon(Object head, Seq tail) {
        this.head = head;
        this.tail = tail;
    }

    @Override
    public scala.collection.Iterator iterator() {
        return iterator(this);
    }

    static scala.collection.Iterator iterator(Seq all) {
        return new scala.collection.Iterator() {
            private Seq rest = all;

            @Override
            public boolean hasNext() {
                return rest instanceof $colon$colon;
            }

            @Override
            public Object next() {
                $colon$colon first = ($colon$colon) rest;
                rest = first.tail;
                return first.head;
            }
        };
    }
}
