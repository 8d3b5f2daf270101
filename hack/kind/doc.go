// Package kind has the tests of the configurations and scripts in this directory.
package kind
