package silicon.jvm;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The classes of the client: Silver's, Silicon's and Scala's.
 *
 * <p>All of them are named by texts, so that the agent is compiled without them and works with
 * every version that has what {@link Signatures} asks for.
 */
final class Client {
    private final ClassLoader loader;
    private final Map<String, Method> methods = new ConcurrentHashMap<>();

    Client(ClassLoader loader) {
        this.loader = loader;
    }

    Class<?> type(String name) {
        try {
            return Class.forName(name, true, loader);
        } catch (ClassNotFoundException missing) {
            throw new IllegalStateException("there is no class " + name, missing);
        }
    }

    boolean is(Object value, String type) {
        return type(type).isInstance(value);
    }

    /** Calls a method that a class declares or inherits; the first one that takes so many arguments. */
    Object call(String type, Object on, String name, Object... arguments) {
        Method method = methods.computeIfAbsent(type + "." + name + "/" + arguments.length, key -> {
            for (Method one : type(type).getMethods()) {
                if (one.getName().equals(name) && one.getParameterCount() == arguments.length
                        && Modifier.isStatic(one.getModifiers()) == (on == null)
                        && fit(one.getParameterTypes(), arguments)) {
                    return one;
                }
            }
            throw new IllegalStateException("there is no method " + key);
        });
        try {
            return method.invoke(on, arguments);
        } catch (IllegalAccessException problem) {
            throw new IllegalStateException(problem);
        } catch (InvocationTargetException thrown) {
            throw rethrown(thrown);
        }
    }

    /** The object that Scala makes of `object NAME`. */
    Object module(String name) {
        try {
            return type(name + "$").getField("MODULE$").get(null);
        } catch (ReflectiveOperationException problem) {
            throw new IllegalStateException(problem);
        }
    }

    /** Calls the constructor of a class that has most parameters. */
    Object make(String type, Object... arguments) {
        for (Constructor<?> constructor : type(type).getConstructors()) {
            if (fit(constructor.getParameterTypes(), arguments)) {
                return make(constructor, arguments);
            }
        }
        throw new IllegalStateException("no constructor of " + type + " fits");
    }

    Object make(Constructor<?> constructor, Object... arguments) {
        try {
            return constructor.newInstance(arguments);
        } catch (InstantiationException | IllegalAccessException problem) {
            throw new IllegalStateException(problem);
        } catch (InvocationTargetException thrown) {
            throw rethrown(thrown);
        }
    }

    private static boolean fit(Class<?>[] parameters, Object[] arguments) {
        if (parameters.length != arguments.length) {
            return false;
        }
        for (int index = 0; index < arguments.length; index++) {
            Class<?> parameter = parameters[index];
            Object argument = arguments[index];
            boolean fits = parameter == boolean.class ? argument instanceof Boolean
                    : parameter == long.class ? argument instanceof Long
                    : argument == null ? !parameter.isPrimitive() : parameter.isInstance(argument);
            if (!fits) {
                return false;
            }
        }
        return true;
    }

    private static RuntimeException rethrown(InvocationTargetException thrown) {
        if (thrown.getCause() instanceof RuntimeException cause) {
            return cause;
        }
        if (thrown.getCause() instanceof Error cause) {
            throw cause;
        }
        return new IllegalStateException(thrown.getCause());
    }

    /** The elements of a collection of Scala. */
    List<Object> list(Object collection) {
        List<Object> list = new ArrayList<>();
        Object iterator = call("scala.collection.IterableOnce", collection, "iterator");
        while ((Boolean) call("scala.collection.Iterator", iterator, "hasNext")) {
            list.add(call("scala.collection.Iterator", iterator, "next"));
        }
        return list;
    }

    /** A list of Scala with these elements. */
    Object seq(List<?> elements) {
        Object list = module("scala.collection.immutable.Nil");
        for (int index = elements.size() - 1; index >= 0; index--) {
            list = make("scala.collection.immutable.$colon$colon", elements.get(index), list);
        }
        return list;
    }

    Object none() {
        return module("scala.None");
    }

    Object some(Object value) {
        return make("scala.Some", value);
    }

    List<Object> subnodes(Object node) {
        return list(call("viper.silver.ast.Node", node, "subnodes"));
    }
}
