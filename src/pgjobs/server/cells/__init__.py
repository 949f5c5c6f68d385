"""One server over several databases with a queue each: requests led to their cell, lists merged."""
