package page

// Wrap is wrap for tests.
var Wrap = wrap
