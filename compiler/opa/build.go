package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/compile"
)

// file is a policy file; its path is relative to the policy's root.
type file struct {
	path, text string
}

// A file is dropped after this number of builds without it. The source text of files that the newest build does not use
// is limited to this number of bytes, because a compiled file takes many times the memory of its source.
const (
	longestUnused  = 16
	mostRemembered = 8 << 20
)

// builder compiles policies and remembers the files in successful builds.
type builder struct {
	entrypoints  []string
	capabilities *ast.Capabilities
	known        *knownFiles
	builds       int
}

func newBuilder(entrypoints []string) *builder {
	return &builder{
		entrypoints:  entrypoints,
		capabilities: ast.CapabilitiesForThisVersion(),
		known:        newKnownFiles(),
	}
}

// build compiles files to WebAssembly. Equal files give equal bytes, whatever was built before.
func (b *builder) build(files []file) (module []byte, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			module, err = nil, fmt.Errorf("OPA panicked: %v", cause)
		}
	}()
	b.builds++
	if module, err := b.buildInSteps(files); err == nil {
		return module, nil
	}
	// Report errors in the command's words.
	return b.buildAtOnce(files)
}

// buildAtOnce returns the module of
//
//	opa build --target wasm --optimize 0 --prune-unused --entrypoint ... --bundle rego
//
// with the files in the archive `rego`. Unlike the command, it neither formats nor packs anything, and does not read
// annotations, because no annotation names an entrypoint.
func (b *builder) buildAtOnce(files []file) ([]byte, error) {
	parsed, err := b.parse(files)
	if err != nil {
		return nil, err
	}
	compiler := compile.New().
		WithCapabilities(b.capabilities).
		WithTarget(compile.TargetWasm).
		WithAsBundle(true).
		WithPruneUnused(true).
		WithOptimizationLevel(0).
		WithEntrypoints(b.entrypoints...).
		WithRegoVersion(ast.RegoV1).
		WithBundle(bundleOf(files, parsed))
	if err := compiler.Build(context.Background()); err != nil {
		return nil, err
	}
	modules := compiler.Bundle().WasmModules
	if len(modules) != 1 {
		return nil, fmt.Errorf("OPA made %d modules of one policy", len(modules))
	}
	return modules[0].Raw, nil
}

// bundleOf returns the compiler input for parsed files.
func bundleOf(files []file, parsed []*ast.Module) *bundle.Bundle {
	source := &bundle.Bundle{Data: map[string]any{}}
	source.Manifest.Init()
	source.SetRegoVersion(ast.RegoV1)
	for index, file := range files {
		// Comments are dropped, so nothing needs to be removed from a file. Raw is formatted at the end and never read,
		// so it can be minimal.
		parsed[index].Comments = nil
		source.Modules = append(source.Modules, bundle.ModuleFile{
			URL:    file.path,
			Path:   file.path,
			Parsed: parsed[index],
			Raw:    []byte("package unread\n"),
		})
	}
	return source
}

// parse parses files, several at a time.
func (b *builder) parse(files []file) ([]*ast.Module, error) {
	options := ast.ParserOptions{Capabilities: b.capabilities, RegoVersion: ast.RegoV1}
	modules, failures := make([]*ast.Module, len(files)), make([]error, len(files))
	turns := make(chan int)
	var working sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		working.Go(func() {
			for index := range turns {
				modules[index], failures[index] = ast.ParseModuleWithOpts(files[index].path, files[index].text, options)
			}
		})
	}
	for index := range files {
		turns <- index
	}
	close(turns)
	working.Wait()
	return modules, errors.Join(failures...)
}
