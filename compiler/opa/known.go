package main

import "github.com/open-policy-agent/opa/v1/ast"

// No more parameter counts than these are remembered, or everything is forgotten.
const mostArities = 1 << 20

// knownFiles remembers files that are compiled. What a file is compiled to depends on nothing but itself and the number
// of parameters of functions in other files.
type knownFiles struct {
	files map[file]*knownFile
	// By the path of a rule, of all files that were ever remembered.
	arities map[string]int
}

// A compiled file, and the number of the build that used it last. Nobody changes the module.
type knownFile struct {
	module *ast.Module
	used   int
}

func newKnownFiles() *knownFiles {
	return &knownFiles{files: map[file]*knownFile{}, arities: map[string]int{}}
}

// module returns nil for a file that is not known.
func (k *knownFiles) module(file file) *ast.Module {
	if known, ok := k.files[file]; ok {
		return known.module
	}
	return nil
}

// contradicts says whether a function of these modules has more or fewer parameters than one of the same path that was
// remembered.
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

// remember keeps the files of a policy that compiled, and drops those that were used long ago or are too much.
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
