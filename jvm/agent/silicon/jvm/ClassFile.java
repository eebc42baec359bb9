package silicon.jvm;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/** The face of a class, read from its bytes: nothing is loaded for that. */
final class ClassFile {
    private static final int PUBLIC = 0x0001;
    private static final int STATIC = 0x0008;
    private static final int SYNTHETIC = 0x1000;

    private final Object[] constants;
    final String superclass;
    final Set<String> interfaces = new HashSet<>();
    /** Its public methods, with their descriptors. */
    final Set<String> methods = new TreeSet<>();

    ClassFile(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        in.skipNBytes(8);
        constants = new Object[in.readUnsignedShort()];
        for (int index = 1; index < constants.length; index++) {
            int tag = in.readUnsignedByte();
            switch (tag) {
                case 1 -> constants[index] = in.readUTF();
                case 7 -> constants[index] = in.readUnsignedShort();
                case 8, 16, 19, 20 -> in.skipNBytes(2);
                case 15 -> in.skipNBytes(3);
                case 3, 4, 9, 10, 11, 12, 17, 18 -> in.skipNBytes(4);
                case 5, 6 -> {
                    in.skipNBytes(8);
                    index++;
                }
                default -> throw new IOException("a constant of the unknown kind " + tag);
            }
        }
        in.skipNBytes(4);
        superclass = name(in.readUnsignedShort());
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            interfaces.add(name(in.readUnsignedShort()));
        }
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            in.skipNBytes(6);
            skipAttributes(in);
        }
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            int access = in.readUnsignedShort();
            String name = (String) constants[in.readUnsignedShort()];
            String descriptor = (String) constants[in.readUnsignedShort()];
            skipAttributes(in);
            boolean isOwn = (access & SYNTHETIC) != 0 || name.contains("$anonfun$")
                    || name.contains("$$") || name.startsWith("$deserialize");
            if ((access & PUBLIC) != 0 && !isOwn) {
                methods.add(((access & STATIC) != 0 ? "static " : "") + name + descriptor);
            }
        }
    }

    private String name(int index) {
        return index == 0 ? "" : (String) constants[(Integer) constants[index]];
    }

    private static void skipAttributes(DataInputStream in) throws IOException {
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            in.skipNBytes(2);
            in.skipNBytes(Integer.toUnsignedLong(in.readInt()));
        }
    }
}
