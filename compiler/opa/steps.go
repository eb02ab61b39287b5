package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
)

// query is the only entrypoint of a module built in steps: a policy function (`policy/regolith/entry`) that answers for
// all entrypoints. OPA's API cannot plan compiled modules in any other way.
const query = "result = data.regolith.entry.answer(input)"

// Stages in OPA's compiler, which runs them in ast.AllStages order. Unlisted stages process one file at a time, and
// need only the parameter counts of the functions in other files.
var (
	stagesOnEachAndAll = []ast.StageID{ast.StageInitLocalVarGen, ast.StageSetModuleTree, ast.StageSetRuleTree}
	stagesOnAll        = []ast.StageID{
		ast.StageSetGraph,
		ast.StageCheckRuleConflicts,
		ast.StageCheckUndefinedFuncs,
		ast.StageCheckTypes,
	}
	// These stages produce unused output: annotations, and indices for OPA's evaluation. refuseRecursion finds
	// recursion.
	stagesLeftOut = []ast.StageID{
		ast.StageParseMetadataBlocks,
		ast.StageSetAnnotationSet,
		ast.StageCheckRecursion,
		ast.StageBuildRuleIndices,
		ast.StageBuildComprehensionIndices,
	}
)

// buildInSteps compiles only new files, with OPA's stages, and then lets OPA check all files together while it plans
// the module: both take about the same time.
func (b *builder) buildInSteps(files []file) ([]byte, error) {
	modules, err := b.compileFiles(files)
	if err != nil {
		return nil, err
	}
	checked, copied := make(chan error, 1), make(chan struct{})
	tellCopied := sync.OnceFunc(func() { close(copied) })
	go func() { checked <- b.check(modules, tellCopied) }()
	<-copied
	module, err := b.plan(modules)
	if err := errors.Join(<-checked, err); err != nil {
		return nil, err
	}
	b.known.remember(files, modules, b.builds)
	return module, nil
}

// compileFiles returns the modules for all files, by path, each compiled as far as possible without the other files.
func (b *builder) compileFiles(files []file) (map[string]*ast.Module, error) {
	modules := make(map[string]*ast.Module, len(files))
	var missing []file
	for _, file := range files {
		if _, twice := modules[file.path]; twice {
			return nil, fmt.Errorf("there are two files %s", file.path)
		}
		modules[file.path] = b.known.module(file)
		if modules[file.path] == nil {
			missing = append(missing, file)
		}
	}
	parsed, err := b.parse(missing)
	if err != nil {
		return nil, err
	}
	fresh := make(map[string]*ast.Module, len(missing))
	for index, file := range missing {
		fresh[file.path] = parsed[index]
	}
	maps.Copy(modules, fresh)
	if err := refuseSharedPackages(modules); err != nil {
		return nil, err
	}
	if b.known.contradicts(fresh) {
		b.known = newKnownFiles()
		return b.compileFiles(files)
	}
	compiler := b.compilerWithout(slices.Concat(stagesLeftOut, stagesOnAll))
	compiler.WithStageAfterID(ast.StageSetRuleTree, ast.CompilerStageDefinition{
		Name:       "SetWholeRuleTree",
		MetricName: "set_whole_rule_tree",
		Stage: func(compiler *ast.Compiler) *ast.Error {
			maps.Copy(modules, compiler.Modules)
			setTrees(compiler, modules)
			return nil
		},
	})
	compiler.Compile(fresh)
	if compiler.Failed() {
		return nil, compiler.Errors
	}
	maps.Copy(modules, compiler.Modules)
	return modules, nil
}

// check runs the checks over all files together: types, recursion, conflicts. It calls copied after it has copied the
// modules: until then no other code may read them.
func (b *builder) check(modules map[string]*ast.Module, copied func()) (err error) {
	defer copied()
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("OPA panicked: %v", cause)
		}
	}()
	compiler := b.compilerWithout(slices.DeleteFunc(ast.AllStages(), func(stage ast.StageID) bool {
		return slices.Contains(stagesOnAll, stage) || slices.Contains(stagesOnEachAndAll, stage)
	}))
	compiler.WithStageAfterID(ast.StageSetModuleTree, ast.CompilerStageDefinition{
		Name:       "TellThatCopied",
		MetricName: "tell_that_copied",
		Stage: func(*ast.Compiler) *ast.Error {
			copied()
			return nil
		},
	})
	compiler.WithStageAfterID(ast.StageSetGraph, ast.CompilerStageDefinition{
		Name:       "RefuseRecursion",
		MetricName: "refuse_recursion",
		Stage:      refuseRecursion,
	})
	compiler.Compile(modules)
	if compiler.Failed() {
		return compiler.Errors
	}
	return nil
}

// refuseRecursion is OPA's recursion check in linear time: a graph that cannot be sorted is recursive. OPA searches for
// a path from each rule back to itself, which takes quadratic time.
func refuseRecursion(compiler *ast.Compiler) *ast.Error {
	if _, ok := compiler.Graph.Sort(); !ok {
		return ast.NewError(ast.RecursionErr, nil, "a rule is recursive")
	}
	return nil
}

// plan creates a WebAssembly module.
func (b *builder) plan(modules map[string]*ast.Module) ([]byte, error) {
	compiler := ast.NewCompiler().WithCapabilities(b.capabilities)
	compiler.Compile(nil)
	compiler.Modules = modules
	setTrees(compiler, modules)
	result, err := rego.New(rego.Compiler(compiler), rego.Query(query)).Compile(context.Background())
	if err != nil {
		return nil, err
	}
	return result.Bytes, nil
}

func (b *builder) compilerWithout(stages []ast.StageID) *ast.Compiler {
	return ast.NewCompiler().WithCapabilities(b.capabilities).WithSkipStages(stages...)
}

func setTrees(compiler *ast.Compiler, modules map[string]*ast.Module) {
	compiler.ModuleTree = ast.NewModuleTree(modules)
	compiler.RuleTree = ast.NewRuleTree(compiler.ModuleTree)
}

// refuseSharedPackages returns an error if a package is in two files: the meaning of a name in either file would depend
// on both files.
func refuseSharedPackages(modules map[string]*ast.Module) error {
	packages := make(map[string]struct{}, len(modules))
	for _, module := range modules {
		packages[module.Package.Path.String()] = struct{}{}
	}
	if len(packages) < len(modules) {
		return errors.New("a package is in two files")
	}
	return nil
}
