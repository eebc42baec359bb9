package scala.collection;

public interface Iterator {
    boolean hasNext();

    Object next();
}
