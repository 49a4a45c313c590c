"""Names that columns have in German, French and Spanish files, without accents.

In order of preference, as the English names in `guess.py`, which come first.
"""

from __future__ import annotations

from typing import Final

OTHER_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "id": ("fall_id", "kennung", "schlussel", "identifiant", "cle", "identificador", "clave"),
    "trial": ("versuch", "essai", "intento"),
    "error": ("fehler", "fehlermeldung", "erreur", "mensaje_de_error"),
    "references": (
        *("referenzen", "referenzantworten", "musterantworten", "richtige_antworten"),
        *("reponses_de_reference", "reponses_correctes", "reponses_acceptees"),
        *("referencias", "respuestas_correctas", "respuestas_de_referencia"),
    ),
    "expected": (
        *("erwartet", "erwartete_antwort", "erwartete_ausgabe", "erwartetes_ergebnis"),
        *("erwarteter_wert", "musterantwort", "musterlosung", "richtige_antwort"),
        *("korrekte_antwort", "referenzantwort", "referenz", "sollwert", "soll"),
        *("attendu", "reponse_attendue", "sortie_attendue", "resultat_attendu"),
        *("reponse_correcte", "bonne_reponse", "reponse_de_reference"),
        *("esperado", "respuesta_esperada", "salida_esperada", "resultado_esperado"),
        *("respuesta_correcta", "respuesta_de_referencia"),
        *("antwort", "reponse", "respuesta"),
    ),
    "input": (
        *("eingabe", "frage", "anfrage", "aufgabe", "fragestellung", "eingabetext"),
        *("entree", "requete", "invite", "consigne"),
        *("entrada", "pregunta", "consulta", "instruccion"),
    ),
    "metadata": ("metadaten", "metadonnees", "metadatos"),
    "tags": (
        *("schlagworte", "schlagworter", "schlagwort", "stichworte", "kategorie", "kategorien"),
        *("thema", "etiquettes", "mots_cles", "categorie", "theme", "etiquetas"),
        *("palabras_clave", "categoria", "categorias", "tema"),
    ),
}
OTHER_OUTPUT_NAMES: Final = (
    *("ausgabe", "modellausgabe", "modellantwort", "antwort_des_modells", "generierte_antwort"),
    *("sortie", "reponse_du_modele", "reponse_generee", "salida", "respuesta_del_modelo"),
    *("respuesta_generada", "antwort", "reponse", "respuesta"),
)
#: What makes an answer the right one, before or behind the word.
OTHER_TRUE_ANSWERS: Final = (
    *("erwartete", "richtige", "korrekte", "beste", "falsche", "attendue", "correcte", "bonne"),
    *("esperada", "correcta", "referencia", "reference"),
)
OTHER_LISTED_TAGS: Final = (
    *("schlagworte", "schlagworter", "stichworte", "kategorien", "etiquettes", "mots_cles"),
    *("etiquetas", "palabras_clave", "categorias"),
)
