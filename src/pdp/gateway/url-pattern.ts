/** URL patterns in mapping rules: a template with parts in braces, or a regular expression. */

import { RE2JS } from 're2js';
import { estimateSteps } from '../../pattern/compiled-patterns.js';

/**
 * Resource attributes from a matching URL, keyed by name. The value is null for a group that did not participate in the
 * match.
 */
export type UrlAttributes = Readonly<Record<string, string | null>>;

/**
 * Match result. `ambiguous` if the URL has several values for a parameter in the pattern, because the upstream service
 * may use any of them.
 */
export type UrlMatch = UrlAttributes | null | 'ambiguous';

/**
 * A pattern for URLs. A `linear` pattern matches in linear time, in this thread. `PatternThread` matches `backtracking`
 * expressions, which may take much longer.
 */
export type UrlPattern =
	| { readonly kind: 'linear'; match(url: string): UrlMatch }
	| { readonly kind: 'backtracking'; readonly source: string };

/** Maximum length for regular expressions matched in this thread, in characters. */
const maxLinearSource = 1_000;

/**
 * Maximum number of program steps for regular expressions matched in this thread. With this limit, matching the longest
 * URL takes about 20 ms.
 */
const maxLinearSteps = 500;

/** Maximum estimated size. For typical expressions, the estimate is at most twice the actual size. */
const maxEstimate = 4 * maxLinearSteps;

/** Parses the `url` of a rule. */
export function urlPattern(url: string, isRegex: boolean): UrlPattern {
	if (!isRegex) return template(url);
	return linearExpression(url) ?? { kind: 'backtracking', source: withoutPythonGroups(url) };
}

/** Returns an RE2 pattern; `null` if RE2 rejects the expression, or if the expression is too large. */
function linearExpression(source: string): UrlPattern | null {
	if (source.length > maxLinearSource || estimateSteps(source) > maxEstimate) return null;
	let expression: RE2JS;
	try {
		expression = RE2JS.compile(source);
	} catch {
		return null;
	}
	if (expression.programSize() > maxLinearSteps) return null;
	const names = Object.keys(expression.namedGroups());
	return {
		kind: 'linear',
		match(url) {
			const matcher = expression.matcher(url);
			if (!matcher.lookingAt()) return null;
			return Object.fromEntries(names.map((name) => [name, matcher.group(name)]));
		},
	};
}

/** Escapes, character classes, and groups in Python's syntax: `(?P<name>` opens a group, `(?P=name)` repeats it. */
const groups = /\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<|\(\?P=(?<repeated>\w+)\)/gsu;

/** Converts the expression to JavaScript syntax. */
function withoutPythonGroups(source: string): string {
	return source.replace(groups, (token, repeated: string | undefined) => {
		if (token === '(?P<') return '(?<';
		return repeated === undefined ? token : `\\k<${repeated}>`;
	});
}

/** A template part: literal text, or a named parameter. */
type Part = { readonly text: string } | { readonly name: string };

function part(text: string): Part {
	const [, name] = /^\{(.+)\}$/s.exec(text) ?? [];
	return name === undefined ? { text } : { name };
}

function template(url: string): UrlPattern {
	const [path, query] = cutAtQuery(url);
	const pieces = path.split('/').map(part);
	const parameters = query === null ? [] : parametersIn(query).map(([name, value]) => [name, part(value)] as const);
	return {
		kind: 'linear',
		match(asked) {
			const [askedPath, askedQuery] = cutAtQuery(asked);
			const found: [string, string][] = [];
			const matches = (expected: Part, text: string | undefined) => {
				if (text === undefined) return false;
				if ('text' in expected) return expected.text === text;
				found.push([expected.name, text]);
				return true;
			};
			const askedPieces = askedPath.split('/');
			if (askedPieces.length !== pieces.length) return null;
			if (!pieces.every((piece, index) => matches(piece, askedPieces[index]))) return null;
			if (query === null) return Object.fromEntries(found);
			if (askedQuery === null) return null;
			const given = parameterTexts(askedQuery);
			const single = parameters.filter(([name]) => given.get(name) !== null);
			if (!single.every(([name, expected]) => matches(expected, given.get(name) ?? undefined))) return null;
			return single.length < parameters.length ? 'ambiguous' : Object.fromEntries(found);
		},
	};
}

function cutAtQuery(url: string): readonly [path: string, query: string | null] {
	const mark = url.indexOf('?');
	return mark === -1 ? [url, null] : [url.slice(0, mark), url.slice(mark + 1)];
}

/** Returns the query parameters in order. Does not decode them, as paths are not decoded either. */
function parametersIn(query: string): readonly (readonly [name: string, value: string])[] {
	return query.split('&').flatMap((text) => {
		if (text === '') return [];
		const sign = text.indexOf('=');
		return [sign === -1 ? [text, ''] : [text.slice(0, sign), text.slice(sign + 1)]];
	});
}

/** Returns each parameter's value; null for a parameter with several values. */
function parameterTexts(query: string): ReadonlyMap<string, string | null> {
	const texts = new Map<string, string | null>();
	for (const [name, value] of parametersIn(query)) {
		const before = texts.get(name);
		texts.set(name, before === undefined || before === value ? value : null);
	}
	return texts;
}
