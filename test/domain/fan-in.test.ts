import test from 'ava';
import { derivationCycles } from '../../compiler/cycle.js';
import { findFanInAbove } from '../../src/domain/check-limit/fan-in.js';

/**
 * Counts the sources of a role in a cycle: the roles on instances from which it is derived, at any distance. A source
 * with several paths counts once, and a role is not its own source.
 */

const unnamed = { name: '', description: null };

/**
 * Returns roles that are derived from each other. For each pair, the target role is derived from the source role along
 * the relation `<target>:<source>`. Names serve as ids.
 */
function roleCycle(...pairs: readonly (readonly [target: string, source: string])[]) {
	const roles = [...new Set(pairs.flat())].map((key) => {
		const derivations = pairs
			.filter(([target]) => target === key)
			.map(([target, role]) => ({ relation: `${target}:${role}`, role, no_direct_roles_on_object: false }));
		return { key, ...unnamed, permissions: [], extends: [], derivations, no_direct_roles_on_object: false };
	});
	const relations = pairs.map(([target, source]) => ({ key: `${target}:${source}`, ...unnamed, subject: '' }));
	const [cycle] = derivationCycles({
		condition_sets: [],
		set_rules: [],
		resources: [{ key: '', ...unnamed, actions: [], roles, relations }],
		roles: [],
	});
	if (cycle === undefined) throw new Error('no cycle');
	return cycle;
}

/** Parses tuples in the form `subject>object`, all with the same relation. */
function tuples(relation_id: string, ...ways: readonly string[]) {
	return ways.map((way) => {
		const [subject_id = '', object_id = ''] = way.split('>');
		return { subject_id, relation_id, object_id };
	});
}

const nested = roleCycle(['viewer', 'viewer']);
const along = (...ways: readonly string[]) => tuples('viewer:viewer', ...ways);

/** Graphs as tuples. `count` is the largest number of sources of a role. */
const graphs = {
	'no relationships': { tuples: [], count: 0 },
	'a chain': { tuples: along('a>b', 'b>c', 'c>d'), count: 3 },
	'a diamond of diamonds': { tuples: along('a>b', 'a>c', 'b>d', 'c>d', 'd>e', 'd>f', 'e>g', 'f>g'), count: 6 },
	'a ring': { tuples: along('a>b', 'b>c', 'c>a'), count: 2 },
	'a relationship from an instance to itself': { tuples: along('a>a'), count: 0 },
	'a ring with a tail and a root': { tuples: along('r>a', 'a>b', 'b>a', 'b>t'), count: 3 },
	'a star': { tuples: along('a>z', 'b>z', 'c>z', 'd>z'), count: 4 },
	'two trees': { tuples: along('a>b', 'a>c', 'x>y', 'y>z'), count: 2 },
} as const;

for (const [name, { tuples: given, count }] of Object.entries(graphs)) {
	test(`a role has at most ${count} sources in ${name}`, (t) => {
		t.is(findFanInAbove(nested, given, count), null);
		if (count > 0) t.not(findFanInAbove(nested, given, count - 1), null);
	});
}

test('a problem includes the role and the instance with too many sources', (t) => {
	t.deepEqual(findFanInAbove(nested, along('a>b', 'b>c', 'x>y'), 1), { role_id: 'viewer', instance_id: 'c' });
	t.deepEqual(findFanInAbove(nested, along('a>b', 'b>a', 'b>c'), 1), { role_id: 'viewer', instance_id: 'c' });
});

test('roles on an instance are counted separately, each along its own derivations', (t) => {
	const cycle = roleCycle(['member', 'lead'], ['lead', 'member']);
	// The member role on c is derived from lead on b, which is derived from member on a. The lead role on c has no source.
	const chain = [...tuples('lead:member', 'a>b'), ...tuples('member:lead', 'b>c')];
	t.deepEqual(findFanInAbove(cycle, chain, 1), { role_id: 'member', instance_id: 'c' });
	t.is(findFanInAbove(cycle, chain, 2), null);
	// Both derivations apply in both directions between the instances, and from each instance to itself.
	const both = ['lead:member', 'member:lead'].flatMap((relation) => tuples(relation, 'a>b', 'b>a', 'a>a'));
	t.not(findFanInAbove(cycle, both, 2), null);
	t.is(findFanInAbove(cycle, both, 3), null);
});
