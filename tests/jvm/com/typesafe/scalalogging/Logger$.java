package com.typesafe.scalalogging;

public final class Logger$ {
    public static final Logger$ MODULE$ = new Logger$();

    public Logger apply(String name) {
        return new Logger();
    }
}
