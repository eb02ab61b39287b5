package main

import "github.com/open-policy-agent/opa/v1/ast"

// mostArities limits the number of remembered parameter counts. Beyond it, all files and counts are dropped.
const mostArities = 1 << 20

// knownFiles remembers compiled files. A compiled file depends only on its source and on the parameter counts of
// functions in other files.
type knownFiles struct {
	files map[file]*knownFile
	// By rule path, for all files ever remembered.
	arities map[string]int
}

// knownFile is a compiled file, with its latest build number. The module is immutable.
type knownFile struct {
	module *ast.Module
	used   int
}

func newKnownFiles() *knownFiles {
	return &knownFiles{files: map[file]*knownFile{}, arities: map[string]int{}}
}

// module returns nil for an unknown file.
func (k *knownFiles) module(file file) *ast.Module {
	if known, ok := k.files[file]; ok {
		return known.module
	}
	return nil
}

// contradicts reports whether a function in these modules has a different parameter count than a remembered function
// with the same path.
func (k *knownFiles) contradicts(modules map[string]*ast.Module) bool {
	for _, module := range modules {
		for _, rule := range module.Rules {
			arity, ok := k.arities[pathOf(rule)]
			if ok && arity != len(rule.Head.Args) {
				return true
			}
		}
	}
	return len(k.arities) > mostArities
}

// remember keeps the files from a successful build, and drops files unused for a long time and files beyond the limit.
func (k *knownFiles) remember(files []file, modules map[string]*ast.Module, build int) {
	for _, file := range files {
		known, ok := k.files[file]
		if !ok {
			known = &knownFile{module: modules[file.path]}
			k.files[file] = known
			for _, rule := range known.module.Rules {
				k.arities[pathOf(rule)] = len(rule.Head.Args)
			}
		}
		known.used = build
	}
	remembered := 0
	for file, known := range k.files {
		if known.used == build {
			continue
		}
		remembered += len(file.text)
		if build-known.used > longestUnused || remembered > mostRemembered {
			delete(k.files, file)
		}
	}
}

func pathOf(rule *ast.Rule) string {
	return rule.Ref().GroundPrefix().String()
}
