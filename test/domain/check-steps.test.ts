import test from 'ava';
import fc from 'fast-check';
import { Derivations, Upstream } from '../../src/domain/check-limit/check-steps.js';
import type { DerivationStep, StepIds } from '../../src/store/model/graph-walk.js';

/** Counts the steps of a check. Writes are rejected if they would make a check take too many steps. */

/** Parses derivations in the form `<type>.<role> < <relation> < <type>.<role>`. A `?` marks blockable derivations. */
function derived(...rules: readonly string[]): Derivations {
	return new Derivations(rules.map(ruleIn));
}

function ruleIn(text: string): DerivationStep {
	const [role_id = '', relation_id = '', source_role_id = ''] = text.replace('?', '').split(' < ');
	const [resource_id = ''] = role_id.split('.');
	return {
		role_id,
		resource_id,
		relation_id,
		source_role_id,
		no_direct_roles_on_object: text.endsWith('?'),
		asked_by_sets: false,
	};
}

/** Parses tuples in the form `subject>object`. */
function along(relation_id: string, ...ways: readonly string[]): readonly StepIds[] {
	return ways.map((way) => {
		const [subject_id = '', object_id = ''] = way.split('>');
		return { subject_id, relation_id, object_id };
	});
}

const nested = 'folder.viewer < parent < folder.viewer';
const inFolder = 'document.viewer < in < folder.viewer';
const ofGroup = 'folder.viewer < viewers < group.member';
const chain = along('parent', 'a>b', 'b>c', 'c>d');
const diamond = along('parent', 'a>b', 'a>c', 'b>d', 'c>d');

const cases = {
	'an instance without relationships': { rules: [inFolder], tuples: [], of: 'd', steps: 0, closures: 0, own: 0 },
	'a relation without derivations': {
		rules: [inFolder],
		tuples: along('owner', 'a>d'),
		of: 'd',
		steps: 0,
		closures: 0,
		own: 0,
	},
	'two folders': { rules: [inFolder], tuples: along('in', 'a>d', 'b>d'), of: 'd', steps: 2, closures: 0, own: 0 },
	'an instance with a closure': { rules: [nested], tuples: chain, of: 'd', steps: 3, closures: 1, own: 3 },
	'a diamond, with each relationship counted once': {
		rules: [nested],
		tuples: diamond,
		of: 'd',
		steps: 4,
		closures: 1,
		own: 4,
	},
	'a ring': { rules: [nested], tuples: along('parent', 'a>b', 'b>a'), of: 'a', steps: 2, closures: 1, own: 2 },
	'nested closures, each counted separately': {
		rules: [nested, inFolder],
		tuples: [...chain, ...along('in', 'a>x', 'b>x', 'c>x', 'd>x')],
		of: 'x',
		steps: 4 + 0 + 1 + 2 + 3,
		closures: 4,
		own: 0,
	},
	'a closure with roles derived from groups': {
		rules: [nested, ofGroup],
		tuples: [...chain, ...along('viewers', 'g>a', 'g>d', 'h>d')],
		of: 'd',
		steps: 3 + 3,
		closures: 1,
		own: 6,
	},
	'a walked cycle, with each relationship counted once': {
		rules: [`${nested}?`, inFolder],
		tuples: [...chain, ...along('in', 'a>x', 'b>x', 'c>x', 'd>x')],
		of: 'x',
		steps: 4 + 3 + 4 * 100,
		closures: 0,
		own: 0,
	},
	'an instance with several derived roles': {
		rules: [inFolder, 'document.editor < in < folder.editor', nested],
		tuples: [...along('in', 'b>x'), ...along('parent', 'a>b')],
		of: 'x',
		steps: 2 + 1,
		closures: 1,
		own: 0,
	},
} as const;

for (const [title, { rules, tuples, of, ...expected }] of Object.entries(cases)) {
	test(`counts ${expected.steps} steps for ${title}`, (t) => {
		const upstream = new Upstream(derived(...rules));
		upstream.add(tuples);
		t.deepEqual(upstream.stepsTo(of), expected);
	});
}

const allDerivations = (target: string, relation: string, source: string, roles: number) =>
	Array.from({ length: roles }, (_, one) =>
		Array.from({ length: roles }, (_, other) => `${target}.${one} < ${relation} < ${source}.${other}`),
	).flat();

const repeats = {
	'a chain of types': { rules: [inFolder, 'folder.viewer < parent < shelf.viewer'], repeated: 1 },
	'two roles with the same source': {
		rules: [nested, inFolder, 'document.editor < in < folder.viewer'],
		repeated: 2,
	},
	'two relations with the same source': {
		rules: [nested, inFolder, 'document.viewer < also < folder.viewer'],
		repeated: 2,
	},
	'a source of a cycle with closures': { rules: [nested, ofGroup, 'group.member < of < team.member'], repeated: 1 },
	'a blockable source of a cycle with closures': {
		rules: [nested, `${ofGroup}?`, 'group.member < of < team.member'],
		repeated: 2,
	},
	'a walk for each role of the instance': {
		rules: [...allDerivations('a', 'up', 'b', 4), ...allDerivations('b', 'up2', 'c', 4)],
		repeated: 4,
	},
} as const;

test('roles named by user sets are looked up twice', (t) => {
	const rules = [inFolder, 'folder.viewer < parent < shelf.viewer'].map(ruleIn);
	const asked = rules.map((rule) => ({ ...rule, asked_by_sets: rule.resource_id === 'document' }));
	t.is(new Derivations(asked).repeated, 2 * new Derivations(rules).repeated);
});

for (const [title, { rules, repeated }] of Object.entries(repeats)) {
	test(`steps are repeated at most ${repeated} times for ${title}`, (t) => t.is(derived(...rules).repeated, repeated));
}

test('relationships upstream of a computed role with derived roles count twice, and each operand counts once', (t) => {
	const rules = ['document.reader < in < folder.cleared', ofGroup, 'group.member < of < group.member'].map(ruleIn);
	const operand_ids = ['folder.viewer', 'folder.blocked'];
	const derivations = new Derivations(rules, [{ role_id: 'folder.cleared', resource_id: 'folder', operand_ids }]);
	t.is(derivations.repeated, 2, 'for the operand itself and for the computed role');
	const upstream = new Upstream(derivations);
	upstream.add([...along('in', 'a>d', 'b>d'), ...along('viewers', 'g>a', 'h>a'), ...along('of', 'i>g')]);
	t.deepEqual(upstream.stepsTo('d'), { steps: 2 + 2 * 2 + 2 * 2 + 2, closures: 2, own: 0 });
});

test('the sources of a relation with conditions are looked up twice, because closures do not contain them', (t) => {
	const rules = [nested, ofGroup, 'group.member < of < team.member'].map(ruleIn);
	const into = rules.map((rule, index) => ({ ...rule, conditional: index === 1 }));
	t.is(new Derivations(rules).repeated, 1);
	t.is(new Derivations(into).repeated, 2);
});

test('a conditional relationship counts with its condition, and a cycle with conditions is walked', (t) => {
	const rules = [nested, inFolder].map(ruleIn);
	const under = (condition_set: string, tuples: readonly StepIds[]) => tuples.map((one) => ({ ...one, condition_set }));
	const tuples = [
		...along('parent', 'a>b', 'a>c'),
		...under('cheap', along('parent', 'a>b')),
		...under('dear', along('in', 'b>d')),
	];
	const stepsTo = (conditional: string, id: string) => {
		const declared = rules.map((rule) => ({ ...rule, conditional: rule.relation_id === conditional }));
		const sets = new Map([
			['cheap', 10],
			['dear', 1000],
		]);
		const upstream = new Upstream(new Derivations(declared), sets);
		upstream.add(tuples);
		return upstream.stepsTo(id);
	};
	t.deepEqual(stepsTo('in', 'd'), { steps: 3 + 1000 + 2 + 10, closures: 1, own: 0 });
	t.deepEqual(
		stepsTo('parent', 'd'),
		{ steps: 1 + 1000 + 2 * 3 + 10 + 2 * 100, closures: 0, own: 0 },
		'two roles are visited',
	);
});

const instances = ['folder', 'document', 'group'].flatMap((type) => [0, 1, 2, 3].map((index) => `${type}${index}`));
const ends = {
	parent: ['folder', 'folder'],
	in: ['folder', 'document'],
	viewers: ['group', 'folder'],
	of: ['group', 'group'],
};
const tuple = fc
	.record({
		relation: fc.constantFrom(...(Object.keys(ends) as (keyof typeof ends)[])),
		from: fc.nat(3),
		to: fc.nat(3),
	})
	.map(({ relation, from, to }): StepIds => {
		const [subject = '', object = ''] = ends[relation];
		return { subject_id: `${subject}${from}`, relation_id: relation, object_id: `${object}${to}` };
	});
const known = fc.uniqueArray(tuple, { selector: (one) => JSON.stringify(one), minLength: 1, maxLength: 20 });

test('no relationship adds more to a check than the estimate for its object', (t) => {
	const assertion = fc.property(known, fc.boolean(), fc.boolean(), (tuples, isWalked, isNested) => {
		const derivations = derived(
			`${nested}${isWalked ? '?' : ''}`,
			inFolder,
			ofGroup,
			...(isNested ? ['group.member < of < group.member'] : ['group.member < of < group.guest']),
		);
		const [before, after] = [new Upstream(derivations), new Upstream(derivations)];
		before.add(tuples.slice(1));
		after.add(tuples);
		const added = after.stepsTo(tuples[0]?.object_id ?? '');
		for (const id of instances) {
			const [was, is] = [before.stepsTo(id), after.stepsTo(id)];
			t.true(is.steps <= was.steps + added.steps + was.closures * added.own, `${id}: ${was.steps}, ${is.steps}`);
			t.true(is.closures <= was.closures + added.closures, id);
		}
	});
	fc.assert(assertion, { numRuns: 500 });
});
