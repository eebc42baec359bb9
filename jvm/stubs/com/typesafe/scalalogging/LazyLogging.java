package com.typesafe.scalalogging;

public interface LazyLogging {
    Logger logger();
}
