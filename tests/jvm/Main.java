import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import viper.server.core.ViperBackend;
import viper.silicon.Silicon;
import viper.silver.ast.Program;
import viper.silver.reporter.StdIOReporter;

/**
 * A client: verifies a program as often as its first argument says, each time within the time of
 * its second one, in milliseconds, and prints each result. The other arguments are the verifier's.
 * With the property `served`, a server asks the verifier.
 */
public final class Main {
    public static void main(String[] arguments) throws InterruptedException {
        Silicon silicon = new Silicon(new StdIOReporter("", false), Nil$.MODULE$);
        Seq words = Nil$.MODULE$;
        for (int index = arguments.length - 1; index > 1; index--) {
            words = new $colon$colon(arguments[index], words);
        }
        silicon.parseCommandLine(words);
        silicon.start();
        for (int count = Integer.parseInt(arguments[0]); count > 0; count--) {
            Object[] result = {"nothing"};
            Program program = new Program();
            Thread thread = new Thread(() -> result[0] = Boolean.getBoolean("served")
                    ? ViperBackend.verify(silicon, program)
                    : silicon.verify(program));
            thread.start();
            thread.join(Long.parseLong(arguments[1]));
            thread.interrupt();
            thread.join();
            System.out.println(result[0]);
        }
        silicon.stop();
    }
}
