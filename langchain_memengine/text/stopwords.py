"""Words too common to tell one memory from another, by language.

Function words only: articles, pronouns, prepositions, conjunctions, auxiliaries, question words.
Written as the word splitter sees them: casefolded, composed, with a plain apostrophe.
"""

from __future__ import annotations

from collections.abc import Mapping

_ENGLISH = """
a an the this that these those some any each every both either neither such same other another
i me my mine myself we our ours ourselves you your yours yourself yourselves he him his himself
she her hers herself it its itself they them their theirs themselves one's
who whom whose what which when where why how
am is are was were be been being do does did doing done have has had having
can could shall should will would must might ought cannot
about above across after against along among around as at before behind below beneath beside
between beyond by down during for from in inside into of off on onto out outside over since
through to toward towards under until up upon with within without
and but or nor so if then else than because while although though whether unless yet
not no only very too also just there here again once ever now all most more much many few
aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mustn't needn't shan't
shouldn't wasn't weren't won't wouldn't ain't let's
"""

_RUSSIAN = """
и а но да или либо ни же ли бы б ведь вот уж лишь даже то это как так что чтобы если когда пока
хотя потому поэтому зато
я меня мне мной мы нас нам нами ты тебя тебе тобой вы вас вам вами он его ему им нем нём она ее
её ей ею ней нее неё оно они их ими них ним себя себе собой
мой моя мое моё мои моего моей моих твой твоя твое твоё твои наш наша наше наши ваш ваша ваше
ваши свой своя свое своё свои своего своей своих свою
этот эта эти этого этой этих этому этим тот та те того той тех тому тем такой такая такое такие
весь вся все всё всего всей всех всем всеми сам сама само сами каждый
кто кого кому кем ком чего чему чем чём который которая которое которые которого которой которых
какой какая какое какие где куда откуда почему зачем сколько чей
в во на с со к ко у о об обо от до из изо за под над по при про без для через между перед около
после
не нет был была было были быть есть будет будут буду будем бывает может можно нужно надо
уже еще ещё тоже также только очень там тут здесь туда сюда теперь сейчас тогда потом всегда
никогда ничего раз
"""

_GERMAN = """
der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner
dieser diese dieses diesen diesem jener jene jenes jeder jede jedes jeden jedem alle alles allen
ich mich mir mein meine meinen meinem meiner du dich dir dein deine deinen deinem deiner er ihn
ihm sein seine seinen seinem seiner sie ihr ihre ihren ihrem ihrer es wir uns unser unsere unseren
euch euer eure man sich selbst
wer wen wem wessen was welcher welche welches welchen wann wo wohin woher warum wieso wie
bin bist ist sind seid war warst waren wart gewesen werde wirst wird werden wurde wurden geworden
habe hast hat haben hatte hatten gehabt kann kannst können konnte konnten muss musst müssen musste
soll sollen sollte will wollen wollte darf dürfen möchte mag
in im ins an am ans auf aus bei beim mit nach von vom vor zu zum zur für gegen ohne um durch über
unter zwischen neben hinter seit bis während wegen trotz ab
und oder aber denn sondern doch wenn weil dass ob als damit obwohl bevor nachdem sowie
nicht nichts nie nur auch noch schon sehr so da dann dort hier jetzt nun wieder immer mehr viel
etwas mal
"""

_FRENCH = """
le la les l un une des du de d au aux ce cet cette ces cela ça ceci
je j me m moi mon ma mes tu te t toi ton ta tes il elle on se s soi son sa ses lui nous notre nos
vous votre vos ils elles leur leurs eux y en
qui que qu quoi dont où quand comment pourquoi combien quel quelle quels quelles lequel laquelle
suis es est sommes êtes sont était étais étaient étions été être sera serai seront serait soit
ai as a avons avez ont avait avais avaient avoir eu aura auront aurait
peut peux peuvent pouvoir doit dois doivent fait fais faire
à dans par pour sur sous avec sans chez entre vers depuis pendant avant après contre jusque
jusqu dès
et ou mais donc or ni car si comme lorsque lorsqu puisque puisqu parce ainsi alors
ne n pas plus moins très trop aussi encore déjà toujours jamais rien tout toute tous toutes même
mêmes autre autres ici là c
"""

_SPANISH = """
el la los las lo un una unos unas al del este esta estos estas esto ese esa esos esas eso aquel
aquella aquellos aquellas
yo me mí mi mis mío mía tú te ti tu tus él ella ello ellos ellas se sí su sus le les nosotros
nosotras nos nuestro nuestra nuestros nuestras vosotros vosotras os vuestro vuestra usted ustedes
quién quien quiénes qué que cuál cuáles cual cuándo cuando dónde donde cómo como cuánto cuánta por
soy eres es somos son era eras eran éramos fue fueron fui ser sido será serán sea
estoy estás está estamos están estaba estaban estar he has ha hemos han había habían haber hay
tengo tiene tienen tener puede pueden
a ante bajo con contra de desde durante en entre hacia hasta para según sin sobre tras
y e o u pero sino ni si porque pues aunque mientras
no ya muy más menos también tampoco sólo solo aún todavía siempre nunca nada algo todo toda todos
todas otro otra otros otras aquí allí ahí así entonces
"""

_ITALIAN = """
il lo la i gli le l un uno una del dello della dei degli delle al allo alla ai agli alle dal dallo
dalla dai dagli dalle nel nello nella nei negli nelle sul sullo sulla sui sugli sulle dell all
dall nell sull questo questa questi queste quello quella quelli quelle quel quei
io mi me mio mia miei mie tu ti te tuo tua tuoi tue lui lei egli ella esso essa si sé suo sua suoi
sue noi ci nostro nostra nostri nostre voi vi vostro vostra vostri vostre loro essi ne
chi che cosa cui quale quali quando dove come perché quanto quanta quanti quante
sono sei è siamo siete era ero erano eravamo fu furono essere stato stata stati state sarà
ho hai ha abbiamo avete hanno aveva avevo avevano avere avuto può possono deve
a di da in con su per tra fra senza sotto sopra verso dopo prima durante contro
e ed o od ma però né se anche poiché mentre quindi dunque
non più meno molto già ancora sempre mai solo tutto tutta tutti tutte altro altra altri altre qui
qua lì là così poi c d
"""

_PORTUGUESE = """
o a os as um uma uns umas do da dos das no na nos nas ao à aos às pelo pela pelos pelas num numa
este esta estes estas isto esse essa esses essas isso aquele aquela aqueles aquelas aquilo
eu me mim meu minha meus minhas tu te ti teu tua teus tuas ele ela eles elas se si seu sua seus
suas lhe lhes nós nosso nossa nossos nossas vós vos você vocês dele dela deles delas
quem que quê qual quais quando onde como quanto quanta quantos quantas
sou és é somos são era eras eram fui foi foram ser sido será serão seja
estou está estamos estão estava estavam estar hei há hão havia haver tenho tem têm tinha tinham
ter pode podem
de em por para com sem sob sobre entre até desde contra após durante perante
e ou mas nem porém porque pois se embora enquanto
não já muito mais menos também só ainda sempre nunca nada algo tudo todo toda todos todas outro
outra outros outras aqui ali lá assim então
"""

STOP_WORDS: Mapping[str, frozenset[str]] = {
    "english": frozenset(_ENGLISH.split()),
    "russian": frozenset(_RUSSIAN.split()),
    "german": frozenset(_GERMAN.split()),
    "french": frozenset(_FRENCH.split()),
    "spanish": frozenset(_SPANISH.split()),
    "italian": frozenset(_ITALIAN.split()),
    "portuguese": frozenset(_PORTUGUESE.split()),
}
"""Stop words of the languages that have a list; the others are stemmed only."""

LATIN_LANGUAGES = ("english", "german", "french", "spanish", "italian", "portuguese")
"""Languages told apart by their stop words; the first is taken when nothing decides."""


def guess_language(words: list[str]) -> str:
    """Return which of ``LATIN_LANGUAGES`` a text is written in, by its stop words.

    Args:
        words: Casefolded words; the text's first few hundred are plenty.

    Returns:
        The language with most stop words among them; the earlier one of equals, so English
        for a text that has none.
    """
    return max(LATIN_LANGUAGES, key=lambda name: sum(map(STOP_WORDS[name].__contains__, words)))
