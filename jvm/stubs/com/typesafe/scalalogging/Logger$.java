package com.typesafe.scalalogging;

public final class Logger$ {
    public static final Logger$ MODULE$ = null;

    public native Logger apply(String name);
}
