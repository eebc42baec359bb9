package com.typesafe.scalalogging;

public class Logger {}
