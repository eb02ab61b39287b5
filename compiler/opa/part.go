//go:build part

// The subset of OPA for Regolith: it compiles policies until standard input ends, and runs tests. Without server and
// plugins it builds in half the time.
package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/lineage"
	"github.com/open-policy-agent/opa/v1/version"
	"github.com/spf13/pflag"
)

const usage = `This is a part of opa: it has the commands "version", "resident" and "test". For the others, install opa
(https://www.openpolicyagent.org/docs#1-download-opa).`

// Exit codes for tests, the same as in OPA.
const (
	passed      = 0
	notRun      = 1
	testsFailed = 2
)

func main() {
	command, arguments := "", []string{}
	if len(os.Args) > 1 {
		command, arguments = os.Args[1], os.Args[2:]
	}
	switch command {
	case "version":
		fmt.Printf("Version: %s\n", version.Version)
	case "resident":
		if err := serve(os.Stdin, os.Stdout, arguments); err != nil {
			fail(err)
		}
	case "test":
		code, err := runTests(arguments)
		if err != nil {
			fail(err)
		}
		os.Exit(code)
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(notRun)
}

// runTests runs the tests in these paths, and prints the results like `opa test`.
func runTests(arguments []string) (int, error) {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	format := flags.String("format", "pretty", "how to print: pretty or json")
	timeout := flags.Duration("timeout", 5*time.Second, "how long a test may take")
	chosen := flags.String("run", "", "the names of tests to run, as a regular expression")
	verbose := flags.BoolP("verbose", "v", false, "print each test")
	if err := flags.Parse(arguments); err != nil {
		return notRun, err
	}
	ctx := context.Background()
	options := ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true}
	modules, store, err := tester.LoadWithParserOptions(flags.Args(), everyFile, options)
	if err != nil {
		return notRun, err
	}
	transaction, err := store.NewTransaction(ctx, storage.WriteParams)
	if err != nil {
		return notRun, err
	}
	defer store.Abort(ctx, transaction)
	compiler := ast.NewCompiler().
		WithPathConflictsCheck(storage.NonEmpty(ctx, store, transaction)).
		WithEnablePrintStatements(true).
		WithCapabilities(ast.CapabilitiesForThisVersion()).
		WithUseTypeCheckAnnotations(true)
	results, err := tester.NewRunner().
		SetCompiler(compiler).
		SetStore(store).
		CapturePrintOutput(true).
		StackTraces(true).
		EnableTracing(*verbose).
		SetModules(modules).
		SetTimeout(*timeout).
		Filter(*chosen).
		RunTests(ctx, transaction)
	if err != nil {
		return notRun, err
	}
	return report(results, *format, *verbose)
}

// isTold reports whether a report shows a test step, like OPA without an explanation option.
func isTold(event *topdown.Event) bool {
	return event.Op == topdown.NoteOp || event.Op == topdown.FailOp
}

func everyFile(string, fs.FileInfo, int) bool { return false }

func report(results chan *tester.Result, format string, verbose bool) (int, error) {
	code := passed
	watched := make(chan *tester.Result)
	go func() {
		defer close(watched)
		for result := range results {
			if !result.Pass() {
				code = testsFailed
			}
			result.Trace = lineage.Filter(result.Trace, isTold)
			watched <- result
		}
	}()
	var reporter tester.Reporter = tester.PrettyReporter{Verbose: verbose, Output: os.Stdout}
	if format == "json" {
		reporter = tester.JSONReporter{Output: os.Stdout}
	}
	if err := reporter.Report(watched); err != nil {
		return notRun, err
	}
	return code, nil
}
