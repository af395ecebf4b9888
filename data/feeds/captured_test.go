package feeds_test

import (
	"testing"

	"pmx/data/testfiles"
)

// TestCaptured reads large captured files, if they are next to the checkout.
// TestEverySliceSaysWhatItHolds checks the same formats with the small files in testdata.
func TestCaptured(t *testing.T) {
	testfiles.Captured(t)
	t.Run("detects every captured file", detectsEveryCapturedFile)
	t.Run("captured answers", capturedAnswers)
	t.Run("every change point of the snapshots", everyChangePointOfTheSnapshots)
	t.Run("nobel trades", nobelTrades)
	t.Run("thin trades", thinTrades)
	t.Run("gamma dumps", gammaDumps)
	t.Run("market tables", marketTables)
	t.Run("midterm winners", midtermWinners)
	t.Run("wallet files", walletFiles)
	t.Run("weather snapshots", weatherSnapshots)
	t.Run("midterms", midterms)
	t.Run("detects every captured file of the weather", detectsEveryCapturedFileOfTheWeather)
	t.Run("every captured answer of the weather service", everyCapturedAnswerOfTheWeatherService)
	t.Run("a century and a half of central park", aCenturyAndAHalfOfCentralPark)
	t.Run("captured normals", capturedNormals)
}
