import type { Command } from 'commander';
import { print } from '../console.js';
import { bashCompletion } from './bash.js';
import { commandTree } from './command-tree.js';
import { fishCompletion } from './fish.js';
import { zshCompletion } from './zsh.js';

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** Prints the completion script for a shell. */
export function completion(program: Command, shell: string): void {
	print(shells[shell as keyof typeof shells](commandTree(program), program.name()));
}
