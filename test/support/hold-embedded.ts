/** If imported before test files, makes them declare only their tests for the embedded store. */
import { holdEmbedded } from './each-store.js';

holdEmbedded();
