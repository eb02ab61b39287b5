// @long

import '../support/hold-embedded.js';
import '../journey/cascades.test.js';
import '../journey/transfer.test.js';
import '../journey/role-assignments.test.js';
import '../store/batch.test.js';
import '../store/deltas.test.js';
import '../store/gone-meanwhile.test.js';
import '../store/logged-since.test.js';
import '../store/writers.test.js';
