// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Repository;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.ValueDefPackage.FullValueDescription;
import org.omg.SendingContext.CodeBase;
import org.omg.SendingContext.CodeBaseHelper;

/** Asks a code base all that one can be asked, and prints a line for each answer. */
final class CodeBaseQuestions {
    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final CodeBase codeBase;

    /** An answer as text. */
    private interface Answer {
        String text();
    }

    CodeBaseQuestions(ORB orb, String reference) {
        codeBase = CodeBaseHelper.narrow(orb.string_to_object(reference));
    }

    void ask(List<String> ids) {
        String[] all = ids.toArray(String[]::new);
        print("get_ir", () -> kinds(codeBase.get_ir()));
        print("implementations", () -> Arrays.toString(codeBase.implementations(all)));
        print("metas", () -> Arrays.stream(codeBase.metas(all)).map(it -> it.id).collect(Collectors.joining(" ")));
        for (String id : ids) {
            print("implementation " + id, () -> "'" + codeBase.implementation(id) + "'");
            print("meta " + id, () -> described(codeBase.meta(id)));
            print("bases " + id, () -> String.join(" ", codeBase.bases(id)));
        }
    }

    private void print(String question, Answer answer) {
        String text;
        try {
            text = answer.text();
        } catch (SystemException e) {
            text = e.getClass().getSimpleName() + " " + (e.minor & 0xFFF);
        }
        out.println(question + ": " + text);
    }

    private static String kinds(Repository repository) {
        return repository == null ? "none" : "kind " + repository.def_kind().value();
    }

    private static String described(FullValueDescription it) {
        String members = Arrays.stream(it.members)
                .map(member -> member.name + " " + member.type.kind().value() + " " + member.access)
                .collect(Collectors.joining(", "));
        return it.id + " " + it.name + (it.is_truncatable ? " truncatable " : " ") + it.base_value + " {" + members + "}";
    }
}
