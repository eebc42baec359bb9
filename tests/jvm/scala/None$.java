package scala;

public final class None$ implements Option {
    public static final None$ MODULE$ = new None$();
}
