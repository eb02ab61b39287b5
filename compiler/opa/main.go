//go:build !part

// The standard OPA program with an additional command: `opa resident` compiles policies until its standard input ends.
// OPA itself is the unmodified module in go.mod.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/open-policy-agent/opa/cmd"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "resident" {
		if err := serve(os.Stdin, os.Stdout, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		return
	}
	if err := cmd.RootCommand.Execute(); err != nil {
		os.Exit(exitCode(err))
	}
}

func exitCode(err error) int {
	if exit, ok := errors.AsType[*cmd.ExitError](err); ok {
		return exit.Exit
	}
	return 1
}
