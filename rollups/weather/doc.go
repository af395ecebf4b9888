// Package weather defines the weather desk: which events are about a city's day, what their
// brackets hold, by which rules they settle, and how temperatures are rounded, averaged and
// compared. It is small and pure: the SQL and the serving code are tested against it.
package weather
