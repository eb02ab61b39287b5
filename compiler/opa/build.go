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

// A file of a policy; its path is relative to the policy's root.
type file struct {
	path, text string
}

// A file as it was parsed, and the number of the build that used it last. The compiler leaves what it is given alone.
type parsedFile struct {
	module *ast.Module
	used   int
}

// Files that none of so many builds had are parsed anew, and no more text than this is remembered beside the newest
// build's, in bytes: what is parsed takes many times the memory of its text.
const (
	longestUnused  = 16
	mostRemembered = 8 << 20
)

// builder compiles policies and remembers the files that it has parsed.
type builder struct {
	entrypoints  []string
	capabilities *ast.Capabilities
	parsed       map[file]*parsedFile
	builds       int
}

func newBuilder(entrypoints []string) *builder {
	return &builder{
		entrypoints:  entrypoints,
		capabilities: ast.CapabilitiesForThisVersion(),
		parsed:       map[file]*parsedFile{},
	}
}

// build compiles files to WebAssembly. The module has the same bytes as that of
//
//	opa build --target wasm --optimize 0 --prune-unused --entrypoint ... --bundle rego
//
// with the files in the archive `rego`. Nothing is formatted or packed, which the command cannot leave out, and
// annotations are not read: no entrypoint is named by one.
func (b *builder) build(files []file) (module []byte, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			module, err = nil, fmt.Errorf("OPA panicked: %v", cause)
		}
	}()
	b.builds++
	if err := b.parse(files); err != nil {
		return nil, err
	}
	source := b.bundleOf(files)
	compiler := compile.New().
		WithCapabilities(b.capabilities).
		WithTarget(compile.TargetWasm).
		WithAsBundle(true).
		WithPruneUnused(true).
		WithOptimizationLevel(0).
		WithEntrypoints(b.entrypoints...).
		WithRegoVersion(ast.RegoV1).
		WithBundle(source)
	if err := compiler.Build(context.Background()); err != nil {
		return nil, err
	}
	modules := compiler.Bundle().WasmModules
	if len(modules) != 1 {
		return nil, fmt.Errorf("OPA made %d modules of one policy", len(modules))
	}
	b.forget()
	return modules[0].Raw, nil
}

// bundleOf makes what is compiled of files that are parsed.
func (b *builder) bundleOf(files []file) *bundle.Bundle {
	source := &bundle.Bundle{Data: map[string]any{}}
	source.Manifest.Init()
	source.SetRegoVersion(ast.RegoV1)
	for _, file := range files {
		// A copy, because rules and comments are taken out of it. Without comments there is nothing to take out, and what
		// stands in Raw, which is formatted at the end and never read, can be next to nothing.
		module := *b.parsed[file].module
		module.Comments = nil
		source.Modules = append(source.Modules, bundle.ModuleFile{
			URL:    file.path,
			Path:   file.path,
			Parsed: &module,
			Raw:    []byte("package unread\n"),
		})
	}
	return source
}

// parse parses the files that are not remembered, several at a time.
func (b *builder) parse(files []file) error {
	var missing []file
	seen := make(map[string]struct{}, len(files))
	for _, file := range files {
		if _, twice := seen[file.path]; twice {
			return fmt.Errorf("there are two files %s", file.path)
		}
		seen[file.path] = struct{}{}
		if known, ok := b.parsed[file]; ok {
			known.used = b.builds
		} else {
			missing = append(missing, file)
		}
	}
	modules, err := b.parseAll(missing)
	for index, module := range modules {
		if module != nil {
			b.parsed[missing[index]] = &parsedFile{module: module, used: b.builds}
		}
	}
	return err
}

// parseAll returns a module for each file, nil for one that is no Rego.
func (b *builder) parseAll(files []file) ([]*ast.Module, error) {
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

// forget drops what was parsed long ago, and what is too much.
func (b *builder) forget() {
	remembered := 0
	for file, known := range b.parsed {
		if known.used == b.builds {
			continue
		}
		remembered += len(file.text)
		if b.builds-known.used > longestUnused || remembered > mostRemembered {
			delete(b.parsed, file)
		}
	}
}
