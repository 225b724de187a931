// Loaded before the command line by `node --import`: the wall clock steps back by a minute each time
// that it is read.
let steps = 0;
const { now } = Date;
Date.now = () => now() - 60_000 * steps++;
